#!/usr/bin/env python3
"""Make the fonts in this folder from their published sources.

    pip install fonttools brotli
    python make.py INTER_DIR JETBRAINS_DIR LUCIDE_DIR [OUT_DIR]

INTER_DIR      holds Inter-Regular, -Medium and -SemiBold (.woff2 or .ttf, static,
               TrueType outlines): folder web/ of the npm package inter-ui 4.1.1.
JETBRAINS_DIR  holds JetBrainsMono-Regular, -Medium and -SemiBold (.ttf): the Debian
               package fonts-jetbrains-mono 2.242, or the upstream release.
LUCIDE_DIR     holds lucide.ttf and codepoints.json: folder font/ of the npm
               package lucide-static 1.62.0.

README.md says what is changed and why.
"""
import json
import logging
import os
import sys

from fontTools import subset
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

logging.getLogger("fontTools").setLevel(logging.ERROR)


def span(a, b):
    return set(range(a, b + 1))


TEXT = (
    span(0x20, 0x7E)
    | span(0xA0, 0xFF)  # Latin-1
    | span(0x100, 0x17F)  # Latin Extended-A
    | span(0x218, 0x21B)  # comma-below S and T
    | {0x2BC, 0x2C6, 0x2C7, 0x2DA, 0x2DC}
    | span(0x384, 0x3CE)  # Greek
    | {0x3D1, 0x3D5}
    | span(0x400, 0x45F)  # Cyrillic
    | {0x490, 0x491}
    | span(0x2000, 0x200B)
    | span(0x2010, 0x2027)
    | {0x202F, 0x2030}
    | span(0x2032, 0x2034)
    | {0x2039, 0x203A, 0x203D, 0x2044, 0x205F, 0x2060}
    | {0x2070, 0x2071}
    | span(0x2074, 0x208E)  # superscripts, subscripts
    | {0x20AC, 0x2116, 0x2122, 0x2126, 0x212B}
    | span(0x2190, 0x2199)
    | {0x21C4, 0x21E7, 0x21B5, 0x21BA, 0x21BB, 0x21D2}
    | {0x2202, 0x2206, 0x220F, 0x2211, 0x2212, 0x2215, 0x2219, 0x221A, 0x221E}
    | {0x222B, 0x2248, 0x2260, 0x2264, 0x2265, 0x22C5}
    | {0x2318, 0x2325, 0x232B, 0x23CE}
    | {0x25A0, 0x25A1, 0x25AA, 0x25AB, 0x25B2, 0x25B3, 0x25B4, 0x25B6, 0x25B8}
    | {0x25BC, 0x25BE, 0x25C0, 0x25C2, 0x25C6, 0x25C7, 0x25CB, 0x25CF, 0x25FB}
    | {0x2605, 0x2606, 0x2713, 0x2717, 0x271A, 0xFFFD}
)

ICONS = """
activity archive arrow-down arrow-left arrow-left-right arrow-right arrow-up
bell bookmark box calendar chart-line chart-spline check chevron-down chevron-left
chevron-right chevron-up chevrons-up-down circle circle-check circle-dot circle-help
circle-x clipboard-copy clock cog command copy cpu database download ellipsis
external-link eye eye-off file file-plus filter flag folder folder-open gauge
git-compare-arrows grip-vertical hard-drive house image info keyboard layers library
list-checks loader-circle maximize-2 memory-stick minus monitor moon network
panel-left pause pencil pin play plus redo-2 refresh-cw rotate-ccw rotate-cw route save
search settings-2 skip-forward sliders-horizontal square star sun table tag target
terminal timer trash-2 triangle-alert undo-2 x zap
""".split()

# Characters that neither text font has, drawn by an icon.
ICON_ALIASES = {0x21C4: "arrow-left-right", 0x271A: "plus"}

# The same line box for every font, as a part of the em (Inter's own values).
ASCENT, DESCENT = 1984 / 2048, 494 / 2048


def find(folder, stem):
    for ext in (".ttf", ".woff2"):
        p = os.path.join(folder, stem + ext)
        if os.path.exists(p):
            return p
    sys.exit(f"no {stem}.ttf or .woff2 in {folder}")


def load(path):
    f = TTFont(path, recalcTimestamp=False)
    assert "glyf" in f and "fvar" not in f, f"{path}: a static TrueType font is needed"
    f.flavor = None
    return f


def cut(font, unicodes, features):
    o = subset.Options()
    o.layout_features = features
    o.hinting = False
    o.notdef_outline = True
    o.glyph_names = False
    o.legacy_kern = False
    o.recalc_bounds = True
    o.recalc_average_width = False
    o.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    o.name_languages = [0x409]
    o.drop_tables += ["DSIG", "gasp", "meta", "STAT"]
    s = subset.Subsetter(o)
    s.populate(unicodes=unicodes)
    s.subset(font)
    for t in ("GSUB", "GDEF") + (() if features else ("GPOS",)):
        if t in font:
            del font[t]


def metrics(font):
    upm = font["head"].unitsPerEm
    a, d = round(ASCENT * upm), round(DESCENT * upm)
    h, o = font["hhea"], font["OS/2"]
    h.ascent, h.descent, h.lineGap = a, -d, 0
    o.sTypoAscender, o.sTypoDescender, o.sTypoLineGap = a, -d, 0
    o.usWinAscent, o.usWinDescent = a, d


def rename(font, family, style, origin, copyright, licence, url):
    n = font["name"]
    n.names = []
    ps = (family + "-" + style).replace(" ", "")
    full = f"{family} {style}"
    rows = {0: copyright, 3: f"1.0;{ps}", 4: full, 5: "Version 1.0", 6: ps,
            10: f"Modified from {origin}.", 13: licence, 14: url}
    if style in ("Regular", "Bold"):
        rows |= {1: family, 2: style}
    else:
        rows |= {1: full, 2: "Regular", 16: family, 17: style}
    for i, v in sorted(rows.items()):
        if v:
            n.setName(v, i, 3, 1, 0x409)


def tabular(font):
    """Give 0-9 the glyphs of the feature tnum."""
    g = font["GSUB"].table
    swap = {}
    for r in g.FeatureList.FeatureRecord:
        if r.FeatureTag == "tnum":
            for i in r.Feature.LookupListIndex:
                for st in g.LookupList.Lookup[i].SubTable:
                    st = getattr(st, "ExtSubTable", st)
                    swap |= getattr(st, "mapping", {})
    for t in font["cmap"].tables:
        for c in range(0x30, 0x3A):
            if c in t.cmap:
                t.cmap[c] = swap.get(t.cmap[c], t.cmap[c])
    widths = {font["hmtx"][font.getBestCmap()[c]][0] for c in range(0x30, 0x3A)}
    assert len(widths) == 1 and swap, widths


def no_digit_kerning(font):
    """Take the digits out of the kerning, so that figures stay in columns."""
    cm = font.getBestCmap()
    digits = {cm[c] for c in range(0x30, 0x3A)}
    for lk in font["GPOS"].table.LookupList.Lookup:
        keep = []
        for st in lk.SubTable:
            st = getattr(st, "ExtSubTable", st)
            assert st.LookupType == 2, "only pair kerning is expected"
            if st.Format == 1:
                rows = [(g, p) for g, p in zip(st.Coverage.glyphs, st.PairSet) if g not in digits]
                for _, p in rows:
                    p.PairValueRecord = [r for r in p.PairValueRecord if r.SecondGlyph not in digits]
                    p.PairValueCount = len(p.PairValueRecord)
                rows = [(g, p) for g, p in rows if p.PairValueRecord]
                st.Coverage.glyphs = [g for g, _ in rows]
                st.PairSet = [p for _, p in rows]
                st.PairSetCount = len(rows)
            else:
                st.Coverage.glyphs = [g for g in st.Coverage.glyphs if g not in digits]
                for cd in (st.ClassDef1, st.ClassDef2):
                    for g in digits:
                        cd.classDefs.pop(g, None)
            if st.Coverage.glyphs:
                keep.append(st)
        if any(getattr(s, "ExtSubTable", None) for s in lk.SubTable):
            lk.LookupType = 2
        lk.SubTable = keep
        lk.SubTableCount = len(keep)


def small_triangles(font):
    """Add ▴ ▸ ▾ ◂ from ▲ ▶ ▼ ◀ where a font has only the large ones."""
    cm = font.getBestCmap()
    glyphs, hmtx = font["glyf"], font["hmtx"]
    made = []
    for small, large in ((0x25B4, 0x25B2), (0x25B8, 0x25B6), (0x25BE, 0x25BC), (0x25C2, 0x25C0)):
        if small in cm or large not in cm:
            continue
        src = glyphs[cm[large]]
        k = 0.62
        adv = round(hmtx[cm[large]][0] * 0.74)
        cap = font["OS/2"].sCapHeight
        dx = adv / 2 - k * (src.xMin + src.xMax) / 2
        dy = cap / 2 - k * (src.yMin + src.yMax) / 2
        pen = TTGlyphPen(glyphs)
        src.draw(_Affine(pen, k, k, dx, dy), glyphs)
        name = f"uni{small:04X}"
        g = pen.glyph(dropImpliedOnCurves=False)
        g.coordinates.toInt()
        glyphs[name] = g
        g.recalcBounds(glyphs)
        hmtx[name] = (adv, g.xMin)
        for t in font["cmap"].tables:
            if t.isUnicode():
                t.cmap[small] = name
        made.append(chr(small))
    font.setGlyphOrder(glyphs.glyphOrder)
    return made


def _Affine(pen, sx, sy, dx, dy):
    from fontTools.pens.transformPen import TransformPen

    return TransformPen(pen, (sx, 0, 0, sy, dx, dy))


def save(font, path):
    font["head"].macStyle = 0
    if "post" in font:
        font["post"].formatType = 3.0
    font.save(path)
    f = TTFont(path)
    h = f["hhea"]
    print(f"{os.path.basename(path):26} {os.path.getsize(path):7} B  {f['maxp'].numGlyphs:4} glyphs  "
          f"upm {f['head'].unitsPerEm}  ascent {h.ascent}  descent {h.descent}  {' '.join(sorted(f.keys()))}")


OFL = ("This Font Software is licensed under the SIL Open Font License, Version 1.1. "
       "This license is available with a FAQ at: https://openfontlicense.org")


def inter(src, out):
    for style in ("Regular", "Medium", "SemiBold"):
        f = load(find(src, "Inter-" + style))
        missing = TEXT - set(f.getBestCmap())
        version = f["name"].getDebugName(5).split(";")[0].replace("Version ", "")
        copyright = f["name"].getDebugName(0)
        tabular(f)
        made = small_triangles(f)
        cut(f, TEXT, ["kern"])
        no_digit_kerning(f)
        metrics(f)
        rename(f, "Powerband Text", style, f"Inter {version}", copyright, OFL, "https://openfontlicense.org")
        save(f, os.path.join(out, f"PowerbandText-{style}.ttf"))
    print("  Inter has no", " ".join(f"{chr(c)} U+{c:04X}" for c in sorted(missing)), "| made:", " ".join(made))


def mono(src, out):
    for style in ("Regular", "Medium", "SemiBold"):
        f = load(find(src, "JetBrainsMono-" + style))
        missing = TEXT - set(f.getBestCmap())
        version = f["name"].getDebugName(5).split(";")[0].replace("Version ", "")
        copyright = f["name"].getDebugName(0)
        cut(f, TEXT, [])
        metrics(f)
        rename(f, "Powerband Mono", style, f"JetBrains Mono {version}", copyright, OFL, "https://openfontlicense.org")
        save(f, os.path.join(out, f"PowerbandMono-{style}.ttf"))
    print("  JetBrains Mono has no", " ".join(f"{chr(c)} U+{c:04X}" for c in sorted(missing)))


def icons(src, out):
    f = load(os.path.join(src, "lucide.ttf"))
    points = json.load(open(os.path.join(src, "codepoints.json")))
    gone = [n for n in ICONS if n not in points]
    if gone:
        sys.exit(f"Lucide has no {gone}")
    cm = f.getBestCmap()
    for t in f["cmap"].tables:
        if t.isUnicode():
            t.cmap = {points[n]: cm[points[n]] for n in ICONS} | {
                c: cm[points[n]] for c, n in ICON_ALIASES.items()}
    f["cmap"].tables = [t for t in f["cmap"].tables if t.isUnicode()]
    cut(f, {points[n] for n in ICONS} | set(ICON_ALIASES), [])
    # Lucide draws on an em square standing on the baseline. Bring its middle to the
    # middle of the line box, which is also the middle of Inter's capitals.
    upm = f["head"].unitsPerEm
    dy = round(upm * (ASCENT - DESCENT) / 2) - upm // 2
    glyphs = f["glyf"]
    for name in f.getGlyphOrder():
        g = glyphs[name]
        if g.numberOfContours > 0:
            g.coordinates.translate((0, dy))
            g.coordinates.toInt()
            g.recalcBounds(glyphs)
        f["hmtx"][name] = (f["hmtx"][name][0], getattr(g, "xMin", 0) or 0)
    metrics(f)
    rename(f, "Powerband Icons", "Regular", "Lucide", "Copyright (c) 2026 Lucide Icons and Contributors; "
           "Copyright (c) 2013-present Cole Bemis", "ISC and MIT, see Lucide-LICENSE.txt", "https://lucide.dev/license")
    save(f, os.path.join(out, "Icons.ttf"))
    with open(os.path.join(out, "icons.txt"), "w") as w:
        for n in ICONS:
            w.write(f"{n} U+{points[n]:04X}\n")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    out = sys.argv[4] if len(sys.argv) == 5 else os.path.dirname(os.path.abspath(__file__))
    inter(sys.argv[1], out)
    mono(sys.argv[2], out)
    icons(sys.argv[3], out)
