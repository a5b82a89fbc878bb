import importlib
import unittest


def temperature():
    """Wherever it is."""
    for name in ("units.temperature", "units.util"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    raise ImportError("no temperatures")


class Convert(unittest.TestCase):
    def test_celsius(self):
        self.assertEqual(temperature().celsius(212), 100)

    def test_fahrenheit(self):
        self.assertEqual(temperature().fahrenheit(100), 212)

    def test_kelvin(self):
        self.assertAlmostEqual(temperature().kelvin(0), 273.15)

    def test_too_cold(self):
        with self.assertRaises(ValueError):
            temperature().kelvin(-300)

    def test_describe(self):
        words = [temperature().describe(celsius) for celsius in (-1, 5, 15, 25, 35)]
        self.assertEqual(words, ["frost", "cold", "mild", "warm", "hot"])
