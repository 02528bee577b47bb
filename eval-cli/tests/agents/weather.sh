#!/bin/sh
# A weather agent in the protocol of `Process`.
echo '{"type": "hello", "protocol": 1}'
while IFS= read -r line; do
  case $line in
  *'"turn"'*)
    city=$(printf '%s\n' "$line" | sed 's/.*weather in \([A-Za-z]*\).*/\1/')
    printf '{"type": "tool_call", "name": "get_weather", "args": {"city": "%s"}, "result": {"sky": "sunny"}}\n' "$city"
    printf '{"type": "event", "event": {"actions": {"stateDelta": {"last_city": "%s"}}}}\n' "$city"
    printf '{"type": "text", "text": "It is sunny in %s."}\n' "$city"
    echo '{"type": "turn_end"}'
    ;;
  *'"start"'*) echo '{"type": "started"}' ;;
  esac
done
