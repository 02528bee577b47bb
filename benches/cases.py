"""Eval sets of any size, and what the agents of both sides answer to them.

The agent looks an order up and answers with words that depend on the number of the order alone;
`crates/evals/src/lib.rs` and `adk/shop/agent.py` do the same.
"""

import json
import pathlib

WORDS = (pathlib.Path(__file__).parent / "crates/evals/words.txt").read_text().split()


def question(order):
    return f"Where is order {order}?"


def answer(order):
    words = (WORDS[(order * 7 + at * at * 3 + at) % len(WORDS)] for at in range(24))
    return f"Order {order}: {' '.join(words)}."


def invocation(order, padding=0):
    turn = {
        "invocation_id": f"e-{order:08x}",
        "user_content": {"role": "user", "parts": [{"text": question(order)}]},
        "final_response": {"role": "model", "parts": [{"text": answer(order)}]},
        "intermediate_data": {
            "tool_uses": [{"id": f"call-{order}", "name": "lookup_order", "args": {"order_id": order}}],
            "tool_responses": [],
            "intermediate_responses": [],
        },
        "creation_timestamp": 1_747_340_865.25,
    }
    if padding:
        turn["intermediate_data"]["tool_responses"].append(
            {"name": "lookup_order", "response": {"log": "x" * padding}}
        )
    return turn


def eval_set(cases, turns=1, padding=0):
    """A set of so many cases of so many turns; padding is in bytes a turn."""
    return {
        "eval_set_id": "orders",
        "eval_cases": [
            {
                "eval_id": f"order_{case}",
                "conversation": [invocation(case * turns + turn, padding) for turn in range(turns)],
                "session_input": {"app_name": "shop", "user_id": "user", "state": {}},
                "creation_timestamp": 1_747_340_865.25,
            }
            for case in range(cases)
        ],
    }


def by_hand(count):
    """As many one-line tests, for the head in `crates/by_hand/tests/evals.rs`."""
    return "".join(f'\n#[tokio::test]\nasync fn order_{n}() {{ check("order_{n}").await }}\n' for n in range(count))


def as_json(value):
    """As google-adk and editors write it."""
    return json.dumps(value, indent=2, ensure_ascii=False)
