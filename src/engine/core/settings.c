/* Reads and checks the variables MW_ENGINE_*. What follows from them is decided where it is used. */
#include "engine/core/settings.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/number.h"

#include <string.h>

/* A value is one of `values`, or a whole number from `least` on where there is no list. */
typedef struct setting {
    const char *name;
    const char *values[4];
    uint64_t least;
    const char *rule;
} setting;

static const setting settings[] = {
    {.name = "MW_ENGINE_LANES", .least = 1, .rule = "a number above 0"},
    {.name = "MW_ENGINE_WAKE", .least = 0, .rule = "a whole number of ns"},
    {.name = "MW_ENGINE_REF", .values = {"0", "1"}, .rule = "0 or 1"},
    {.name = "MW_ENGINE_WIDE", .values = {"0", "256", "512"}, .rule = "0, 256 or 512"},
    {.name = "MW_ENGINE_FUSE", .values = {"0", "1"}, .rule = "0 or 1"},
};

static bool is_value(const setting *row, const char *text)
{
    uint64_t number;
    if (row->values[0] == NULL)
        return mw__number_read_u64(text, strlen(text), &number) && number >= row->least;
    for (size_t i = 0; row->values[i] != NULL; i++)
        if (strcmp(row->values[i], text) == 0)
            return true;
    return false;
}

mw_status mw__settings_check(mw_error *err)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *text = mw__environment(settings[i].name);
        if (text != NULL && !is_value(&settings[i], text))
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s is \"%.100s\", not %s", settings[i].name, text,
                            settings[i].rule);
    }
    return MW_OK;
}

static bool is_set_to(const char *name, const char *value)
{
    const char *text = mw__environment(name);
    return text != NULL && strcmp(text, value) == 0;
}

/* A malformed value counts as none: mw__settings_check has refused it, or nobody compiles. */
static bool read_number(const char *name, uint64_t *out)
{
    const char *text = mw__environment(name);
    return text != NULL && mw__number_read_u64(text, strlen(text), out);
}

uint64_t mw__settings_lanes(void)
{
    uint64_t lanes = 0;
    return read_number("MW_ENGINE_LANES", &lanes) ? lanes : 0;
}

double mw__settings_wake(double otherwise)
{
    uint64_t cost = 0;
    return read_number("MW_ENGINE_WAKE", &cost) ? (double)cost : otherwise;
}

bool mw__settings_ref(void) { return is_set_to("MW_ENGINE_REF", "1"); }

int mw__settings_wide(void)
{
    return is_set_to("MW_ENGINE_WIDE", "0") ? 0 : is_set_to("MW_ENGINE_WIDE", "256") ? 256 : 512;
}

bool mw__settings_fuse(void) { return !is_set_to("MW_ENGINE_FUSE", "0"); }
