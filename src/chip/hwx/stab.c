/* Reading type strings. A cursor goes forward only; nothing is nested. */
#include "chip/hwx/stab.h"

#include "base/number/number.h"

#include <string.h>

static bool skip_text(const char **at, const char *what)
{
    const size_t length = strlen(what);
    if (strncmp(*at, what, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool read_number(const char **at, int64_t *out)
{
    const char *end = *at + (**at == '-');
    while (*end >= '0' && *end <= '9')
        end++;
    if (!mw__number_read_i64(*at, (size_t)(end - *at), out))
        return false;
    *at = end;
    return true;
}

static bool read_unsigned(const char **at, uint64_t *out)
{
    int64_t value = 0;
    if (!read_number(at, &value) || value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* axis = "ar1;0;" extent ";" number "=s" stride letter ":" */
static bool read_axis(const char **at, mw__stab_axis *out)
{
    uint64_t number;
    if (!skip_text(at, "ar1;0;") || !read_unsigned(at, &out->extent) || !skip_text(at, ";") ||
        !read_unsigned(at, &number) || !skip_text(at, "=s") || !read_unsigned(at, &out->stride) || **at < 'a' ||
        **at > 'z')
        return false;
    out->letter = *(*at)++;
    return skip_text(at, ":");
}

/* port = axis+ element */
static bool read_axes(const char **at, mw__stab *out)
{
    while (**at == 'a') {
        if (out->axis_count == MW__STAB_AXES || !read_axis(at, &out->axes[out->axis_count]))
            return false;
        out->axis_count++;
    }
    return read_unsigned(at, &out->element);
}

/* range = "r" of ";" low ";" high; void = its own number; lut = nothing */
static bool read_type(const char **at, mw__stab *out)
{
    if (**at != 'r')
        return **at == '\0' || read_number(at, &out->of);
    out->is_range = true;
    return skip_text(at, "r") && read_number(at, &out->of) && skip_text(at, ";") && read_number(at, &out->low) &&
           skip_text(at, ";") && read_number(at, &out->high);
}

/* stab = name ":t" number "=" (port | type) */
bool mw__stab_read(const char *text, mw__stab *out)
{
    *out = (mw__stab){.name = text};
    const char *at = strstr(text, ":t");
    if (at == NULL)
        return false;
    out->name_length = (size_t)(at - text);
    at += 2;
    if (!read_unsigned(&at, &out->number) || !skip_text(&at, "="))
        return false;
    return (*at == 'a' ? read_axes(&at, out) : read_type(&at, out)) && *at == '\0';
}
