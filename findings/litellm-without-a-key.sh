#!/bin/sh
# LiteLLM's proxy, installed as its manual says (`pip install 'litellm[proxy]'`) and with a master key,
# answers a request without a key with status 500, and one with a wrong key with 400. Its manual and
# OpenAI's format have 401. A client takes the first for a failing server and asks again, and nobody
# learns that a key is missing.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
proxy=
trap '[ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'litellm[proxy]==1.108.7' || exit 2
cat >"$folder/config.yaml" <<'CONFIG'
model_list:
  - model_name: m
    litellm_params: {model: openai/m, api_base: http://127.0.0.1:9/v1, api_key: none}
general_settings:
  master_key: sk-9f4c1b7ae26d4085b3d1c7e8a05f6492d8e1
CONFIG
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/litellm" --config "$folder/config.yaml" --host 127.0.0.1 --port "$port" \
    --telemetry False >"$folder/log" 2>&1 &
proxy=$!
url=http://127.0.0.1:$port
tries=0
until curl --silent --fail --output /dev/null "$url/health/liveliness"; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || exit 2
    sleep 1
done
ask() {
    curl --silent --max-time 30 --output "$folder/body" --write-out '%{http_code} %{content_type}' \
        --header 'Content-Type: application/json' "$@" "$url/v1/chat/completions" \
        --data '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    printf ' '
    cat "$folder/body"
}
without=$(ask)
wrong=$(ask --header 'Authorization: Bearer sk-wrong')
"$folder/venv/bin/pip" list 2>/dev/null | grep '^litellm '
echo "expected: 401 for both, as with any OpenAI-compatible server"
echo "without a key: $without"
echo "wrong key:     $wrong"
case "$without" in 500*) ;; *) exit 1 ;; esac
case "$wrong" in 400*no_db_connection*) ;; *) exit 1 ;; esac
