-- Results of the example prism, one for each number n; every other one has an idempotency key.
INSERT INTO results (id, account_id, prism_id, version, api_key_id, reference, idempotency_key,
    status, answers, fields, took_ms, created_at, model_protocol, model_name, input_tokens,
    output_tokens, model_requests, model_attempts)
SELECT {id}, {account}, {prism}, 1, {key}, 'order ' || n,
    CASE WHEN n % 2 = 0 THEN 'import of january, row ' || n END, 'ok',
    '{"topic":{"type":"choice","value":"billing","probabilities":{"billing":0.7,"delivery":0.075,"product":0.075,"other":0.075,"insufficient_information":0.075},"confidence":0.6},"angry":{"type":"yes_no","probability":0.8},"urgency":{"type":"scale","level":"can_wait","probabilities":{"can_wait":0.7,"this_week":0.15,"today":0.15}}}',
    '{"text":"I ordered a bicycle three weeks ago and was told that it would be here within ten days. Nobody answers the telephone, and the page of my order says nothing new. Where is it, and when will it be here?"}',
    700, {moment}, 'systemone', 'jev-1.13.0', 318, 34, 1, 1
FROM {rows}
