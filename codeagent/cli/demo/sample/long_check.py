"""Compares the totals of many carts with a second way to work them out; takes a few seconds."""

import random
import sys
import time

from shop.cart import Cart

random.seed(7)
wrong = 0
for batch in range(1, 13):
    differing = 0
    for _ in range(500):
        cart = Cart(discount=random.choice([0, 0.1, 0.25, 0.5, 1.0]))
        for item in range(random.randint(1, 5)):
            cart.add(f"item {item}", random.randint(1, 10_000))
        expected = round(cart.full_price() - cart.full_price() * cart.discount)
        differing += abs(cart.total() - expected) > 1
    verdict = f"{differing} of 500 carts differ" if differing else "500 carts agree"
    print(f"batch {batch:2} of 12: {verdict}", flush=True)
    wrong += differing
    time.sleep(0.7)
sys.exit(wrong > 0)
