/* Writing SVG and HTML: escaped text, numbers, and how wide a text will be. */
#ifndef MW__VIEW_MARKUP_H
#define MW__VIEW_MARKUP_H

#include "base/text/text.h"

/* Foreign text as it is shown (base/text/printable.h), cut to `longest` bytes, with markup in it as text. */
void mw__put_escaped(mw__text *out, const char *string, size_t longest);
/* A number with so many digits behind the point at most; no "-0", no zeros at the end. */
void mw__put_fixed(mw__text *out, double value, int decimals);
/* All digits behind the point, "97.0"; so many that count, "0.05914". */
void mw__put_exact(mw__text *out, double value, int decimals);
void mw__put_significant(mw__text *out, double value, int digits);
/* " name=\"1.5\"" */
void mw__put_attribute(mw__text *out, const char *name, double value);

/* Pixels that a shown text takes at most in the fonts that are asked for, about: every byte counts as a wide small
 * letter, and what takes more than one byte has as many letters at least. */
double mw__view_text_width(size_t bytes, double font_size);
/* Bytes of a text that have room in so many pixels. */
size_t mw__view_text_capacity(double pixels, double font_size);
/* Bytes of a string as it is shown, cut to `longest`. */
size_t mw__view_printable_length(const char *string, size_t longest);

/* The colors, light and dark, that pictures and pages share: declarations of CSS variables for :root. */
extern const char mw__palette_light[], mw__palette_dark[];

#endif
