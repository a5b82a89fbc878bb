"""Greetings in a box."""

import os

DATEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "daten", "grüße.txt")


def lesen(pfad=DATEN):
    with open(pfad, encoding="utf-8") as datei:
        zeilen = [zeile.strip().split(" = ") for zeile in datei if " = " in zeile]
    return dict(zeilen)


def gruss(sprache, pfad=DATEN):
    return lesen(pfad)[sprache]


def rahmen(text):
    breite = len(text)
    return "┌─%s─┐\n│ %s │\n└─%s─┘\n" % ("─" * breite, text, "─" * breite)
