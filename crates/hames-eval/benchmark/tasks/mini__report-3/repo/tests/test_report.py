import unittest

from report import csv_report, html_report, text_report

ROWS = [("pears", 2.5), ("none", None), ("a,b", 3), ('say "x"', 1), ("<&>", 0.125), ("nought", 0)]


class Reports(unittest.TestCase):
    def test_text(self):
        expected = (
            "pears         2.50\na,b           3.00\nsay \"x\"       1.00\n"
            "<&>           0.12\nnought        0.00\ntotal         6.62\n"
        )
        self.assertEqual(text_report(ROWS), expected)

    def test_csv(self):
        expected = (
            'pears,2.50\n"a,b",3.00\n"say ""x""",1.00\n<&>,0.12\nnought,0.00\ntotal,6.62\n'
        )
        self.assertEqual(csv_report(ROWS), expected)

    def test_html(self):
        expected = (
            "<table>\n<tr><td>pears<td>2.50\n<tr><td>a,b<td>3.00\n<tr><td>say \"x\"<td>1.00\n"
            "<tr><td>&lt;&amp;><td>0.12\n<tr><td>nought<td>0.00\n<tr><th>total<th>6.62\n</table>\n"
        )
        self.assertEqual(html_report(ROWS), expected)

    def test_nothing_sold(self):
        self.assertEqual(csv_report([]), "total,0.00\n")
        self.assertEqual(html_report([]), "<table>\n<tr><th>total<th>0.00\n</table>\n")
