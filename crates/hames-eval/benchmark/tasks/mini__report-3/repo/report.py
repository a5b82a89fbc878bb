"""Sales reports as text, as comma-separated values and as HTML."""


def text_report(rows):
    total = 0
    lines = []
    for name, amount in rows:
        if amount is None:
            continue
        total = total + amount
        lines.append("%-10s%8.2f" % (name, amount))
    lines.append("%-10s%8.2f" % ("total", total))
    return "\n".join(lines) + "\n"


def csv_report(rows):
    total = 0
    lines = []
    for name, amount in rows:
        if amount is None:
            continue
        total = total + amount
        if "," in name or '"' in name:
            name = '"' + name.replace('"', '""') + '"'
        lines.append("%s,%.2f" % (name, amount))
    lines.append("total,%.2f" % total)
    return "\n".join(lines) + "\n"


def html_report(rows):
    total = 0
    lines = ["<table>"]
    for name, amount in rows:
        if amount is None:
            continue
        total = total + amount
        name = name.replace("&", "&amp;").replace("<", "&lt;")
        lines.append("<tr><td>%s<td>%.2f" % (name, amount))
    lines.append("<tr><th>total<th>%.2f" % total)
    lines.append("</table>")
    return "\n".join(lines) + "\n"
