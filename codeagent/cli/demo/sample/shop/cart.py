"""A shopping cart."""

from dataclasses import dataclass, field


@dataclass
class Cart:
    """Items with their prices in cents, and a discount from 0 to 1."""

    items: list = field(default_factory=list)
    discount: float = 0.0

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def full_price(self):
        return sum(price * count for _, price, count in self.items)

    def total(self):
        """What the customer pays, in cents."""
        return round(self.full_price() / (1 + self.discount))
