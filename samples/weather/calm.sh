# A program as a metric: it reads the turns as JSON, and writes 1 where no answer shouts.
if grep -q '"final_response":"[^"]*!'; then
    echo '{"score": 0, "details": {"why": "an answer shouts"}}'
else
    echo '{"score": 1}'
fi
