#!/bin/sh
# An agent in shell: the protocol of eval-agents' `Process` on standard input and output.
#
# It reads no JSON. Each line that comes begins with its type, and quotes within a text are escaped. A blank after the colon is for
# lines that are written by hand.

echo '{"type": "hello", "protocol": 1}'
while IFS= read -r line; do
  case $line in
  '{"type":"start"'* | '{"type": "start"'*)
    echo '{"type": "started"}'
    ;;
  '{"type":"turn"'* | '{"type": "turn"'*)
    city=$(printf '%s\n' "$line" | sed -n 's/.*[Ww]eather in \([A-Za-z]*\).*/\1/p')
    cat <<END
{"type": "tool_call", "name": "get_weather", "args": {"city": "$city"}, "result": {"sky": "sunny", "city": "$city"}}
{"type": "event", "event": {"author": "weather_agent", "actions": {"stateDelta": {"last_city": "$city"}}}}
{"type": "text", "author": "weather_agent", "text": "It is sunny in $city."}
{"type": "turn_end"}
END
    ;;
  esac
done
