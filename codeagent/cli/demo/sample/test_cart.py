import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def setUp(self):
        self.cart = Cart()
        self.cart.add("tea", 450, count=2)
        self.cart.add("cup", 1100)

    def test_full_price(self):
        self.assertEqual(self.cart.full_price(), 2000)

    def test_no_discount(self):
        self.assertEqual(self.cart.total(), 2000)

    def test_quarter_off(self):
        self.cart.discount = 0.25
        self.assertEqual(self.cart.total(), 1500)

    def test_everything_off(self):
        self.cart.discount = 1.0
        self.assertEqual(self.cart.total(), 0)


if __name__ == "__main__":
    unittest.main()
