#include "view/markup.h"

#include "base/text/error.h"
#include "base/text/printable.h"

#include <string.h>

#define FONT_WIDTH 0.62 /* of a letter in its height: a little more than the mean of a wide font */

enum { ESCAPED_MAX = 512 };

const char mw__palette_light[] =
    "--page:#ffffff;--ink:#1d2730;--dim:#5b6975;--line:#8a97a3;--rule:#dde3e9;--band:#f3f6f9;--good:#2f8659;"
    "--bad:#b23a48;--s0:#2f6fb5;--s1:#c2571a;--s2:#2f8659;--s3:#8f4fb0;--s4:#b8860b;--s5:#b23a48;--s6:#16808a;--s7:#"
    "6b7580;"
    "--c0:#dbe9f8;--c1:#f9e4d4;--c2:#d9efe2;--c3:#ecdff4;--c4:#f7ecc9;--c5:#f6dbde;--c6:#d3eef0;--c7:#eceff2";
const char mw__palette_dark[] =
    "--page:#14191e;--ink:#dbe3ea;--dim:#9aa7b2;--line:#6b7884;--rule:#2c363f;--band:#1b2229;--good:#5cc28c;"
    "--bad:#ef7f8c;--s0:#6fb1f5;--s1:#f0935a;--s2:#5cc28c;--s3:#c795e6;--s4:#e3bb4e;--s5:#ef7f8c;--s6:#4fc3cd;--s7:#"
    "9aa7b2;"
    "--c0:#1e3a57;--c1:#4a2c19;--c2:#1d4531;--c3:#3c2850;--c4:#443714;--c5:#4a2228;--c6:#17434a;--c7:#272f37";

static const char *entity_of(char c)
{
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

void mw__put_escaped(mw__text *out, const char *string, size_t longest)
{
    char shown[ESCAPED_MAX];
    mw__printable(shown, longest + 1 < sizeof shown ? longest + 1 : sizeof shown, string);
    for (const char *c = shown; *c != '\0'; c++) {
        const char *entity = entity_of(*c);
        if (entity != NULL)
            mw__text_puts(out, entity);
        else if (strncmp(c, "\xef\xbf\xbe", 3) == 0 || strncmp(c, "\xef\xbf\xbf", 3) == 0) { /* no characters of XML */
            mw__text_puts(out, "?");
            c += 2;
        } else {
            mw__text_append(out, c, 1);
        }
    }
}

size_t mw__view_printable_length(const char *string, size_t longest)
{
    char shown[ESCAPED_MAX];
    return strlen(mw__printable(shown, longest + 1 < sizeof shown ? longest + 1 : sizeof shown, string));
}

void mw__put_fixed(mw__text *out, double value, int decimals)
{
    char text[400];
    size_t length = mw__printable_printf(text, sizeof text, "%.*f", decimals, value);
    while (decimals > 0 && length > 0 && text[length - 1] == '0')
        length--;
    length -= decimals > 0 && length > 0 && text[length - 1] == '.';
    if (length == 2 && text[0] == '-' && text[1] == '0')
        mw__text_puts(out, "0");
    else
        mw__text_append(out, text, length);
}

void mw__put_exact(mw__text *out, double value, int decimals)
{
    char text[400];
    mw__printable_printf(text, sizeof text, "%.*f", decimals, value);
    mw__text_puts(out, text);
}

void mw__put_significant(mw__text *out, double value, int digits)
{
    char text[64];
    mw__printable_printf(text, sizeof text, "%.*g", digits, value);
    mw__text_puts(out, text);
}

void mw__put_attribute(mw__text *out, const char *name, double value)
{
    mw__text_printf(out, " %s=\"", name);
    mw__put_fixed(out, value, 1);
    mw__text_puts(out, "\"");
}

double mw__view_text_width(size_t bytes, double font_size) { return FONT_WIDTH * font_size * (double)bytes; }

size_t mw__view_text_capacity(double pixels, double font_size)
{
    return pixels > 0.0 ? (size_t)(pixels / (FONT_WIDTH * font_size)) : 0;
}
