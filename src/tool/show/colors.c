/* var(--name) becomes what stands behind the first "--name:". */
#include "tool/show/colors.h"

#include <stdio.h>
#include <string.h>

/* The value of a variable, up to where it ends; *out_length 0 if it has none. */
static const char *value_of(const char *svg, const char *name, size_t length, size_t *out_length)
{
    char wanted[64];
    *out_length = 0;
    if ((size_t)snprintf(wanted, sizeof wanted, "%.*s:", (int)length, name) >= sizeof wanted)
        return "";
    const char *at = strstr(svg, wanted);
    if (at == NULL)
        return "";
    at += strlen(wanted);
    *out_length = strcspn(at, ";}");
    return at;
}

void tool_put_colors(const char *svg, mw__text *out)
{
    for (const char *at = svg, *next; *at != '\0'; at = next) {
        next = strstr(at, "var(--");
        if (next == NULL) {
            mw__text_puts(out, at);
            return;
        }
        const char *name = next + strlen("var("), *value;
        const size_t length = strcspn(name, ")");
        size_t size;
        mw__text_append(out, at, (size_t)(next - at));
        value = value_of(svg, name, length, &size);
        mw__text_append(out, value, size);
        next = name + length + (name[length] == ')');
    }
}
