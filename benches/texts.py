"""Pairs of texts, expected and actual, as long as the answers of agents are."""

import random

WORDS = """the a of to and in is was for with your our you we will has have been order refund shipment package
delivered delivery scheduled scheduling customers customer happiness relational conditional generously hopefulness
formalize formality operator running runs ran payments payment processing processed yesterday tomorrow Monday
flights booked booking cancelled cancellation reservation available availability sunny weather temperature degrees
Berlin Paris please contact support additional information regarding questions confirmed confirmation successfully
account balances transferred transferring internationally organization organizing 42 2026 17th it's don't""".split()


def pairs(count, seed=1):
    """So many pairs of 5 to 80 words that have about three quarters of their words in common."""
    draw = random.Random(seed)
    return [pair(draw) for _ in range(count)]


def pair(draw):
    expected = draw.choices(WORDS, k=draw.randint(5, 80))
    actual = [word if draw.random() < 0.75 else draw.choice(WORDS) for word in expected]
    return [sentences(expected, draw), sentences(actual, draw)]


def sentences(words, draw):
    ends = (" ", " ", " ", " ", " ", ", ", ". ", ".\n")
    return "".join(word + draw.choice(ends) for word in words).strip() + "."
