"""The sizes and colours of figures, which need no matplotlib."""

# In inches. In ACL's style, a column is 7.7 cm wide and a page 16 cm. The height is 24.7 cm, less that of a caption of
# seven lines.
COLUMN = 7.7 / 2.54
PAGE = 16.0 / 2.54
PAGE_HEIGHT = 21.2 / 2.54

# In points; captions in ACL's style have 10 pt.
FONT_SIZE = 7.5

# Blue and vermilion of Okabe and Ito, which are distinguishable with any kind of colour vision. No meaning depends on
# colour alone: better and worse are also sides of a figure, and significant results have filled markers and stars.
BETTER = "#0072B2"
WORSE = "#D55E00"
INK = "#222222"
MUTED = "#5f5f5f"
FAINT = "#d9d9d9"
