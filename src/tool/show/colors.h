/* Colors of our pictures for converters that know no variables of CSS. */
#ifndef MW__TOOL_SHOW_COLORS_H
#define MW__TOOL_SHOW_COLORS_H

#include "base/text/text.h"

/* Copies an SVG with the first value of each variable, the light one, in its place. */
void tool_put_colors(const char *svg, mw__text *out);

#endif
