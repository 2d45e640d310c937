// Checks objects of the Prometheus Operator against its schemas, and that it knows each of their fields:
//   operator.mjs FILE...
import { readFileSync } from "node:fs";
import { PrometheusRule } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor";
import { parse } from "yaml";

const KINDS = { PrometheusRule, ServiceMonitor };

// The schemas let unknown fields pass, but read only those that they know: the values that were never
// read are unknown.
function watched(value, path, unread) {
  if (typeof value !== "object" || value === null) return value;
  const inner = Array.isArray(value) ? [] : {};
  for (const [key, part] of Object.entries(value)) {
    inner[key] = watched(part, `${path}.${key}`, unread);
    unread.add(`${path}.${key}`);
  }
  return new Proxy(inner, {
    get(object, key) {
      unread.delete(`${path}.${String(key)}`);
      return object[key];
    },
  });
}

for (const file of process.argv.slice(2)) {
  const object = parse(readFileSync(file, "utf8"));
  const unread = new Set();
  try {
    if (!KINDS[object.kind]) throw new Error(`no schema of ${object.kind}`);
    const model = new KINDS[object.kind](object);
    model.spec = watched(object.spec, "spec", unread);
    model.validate();
    if (unread.size > 0) throw new Error(`unknown: ${[...unread].join(", ")}`);
  } catch (error) {
    console.log(`${file}: ${error.message}`);
    process.exitCode = 1;
  }
}
