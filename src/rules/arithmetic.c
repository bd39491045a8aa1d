/* The rows of arithmetic.def, profiles of them, and their names. */
#include "rules/arithmetic.h"

#include "base/text/error.h"
#include "rules/chips.h"

#include <string.h>

enum {
    NONE = 0,
    H13 = 1 << MW_CHIP_H13,
    H14 = 1 << MW_CHIP_H14,
    H15 = 1 << MW_CHIP_H15,
    H16 = 1 << MW_CHIP_H16,
    H17 = 1 << MW_CHIP_H17,
    H18G = 1 << MW_CHIP_H18G,
    EVERY = H13 | H14 | H15 | H16 | H17 | H18G
};

static const mw__switch_row rows[MW__SWITCH_COUNT] = {
#define MW_SWITCH(id, chips_, what_, measured_, source_)                                                               \
    [MW__SWITCH_##id] = {.name = #id, .what = what_, .measured = measured_, .source = source_, .chips = chips_},
#include "rules/arithmetic.def"
#undef MW_SWITCH
};

_Static_assert(MW__SWITCH_COUNT <= 32, "a set of switches has 32 bits");

const mw__switch_row *mw__switch_rows(void) { return rows; }

bool mw__arithmetic_has(mw_chip chip)
{
    const mw__chip_row *row = mw__chip_find(chip);
    return row != NULL && row->has_arithmetic;
}

mw__arithmetic mw__arithmetic_of(mw_chip chip)
{
    mw__arithmetic set = 0;
    const mw_chip asked = mw__arithmetic_has(chip) ? chip : mw__chip_named(MW__ARITHMETIC_DEFAULT)->chip;
    for (int i = 0; i < MW__SWITCH_COUNT; i++)
        if ((rows[i].chips >> asked & 1u) != 0)
            set |= (mw__arithmetic)1 << i;
    return set;
}

mw__arithmetic mw__arithmetic_knots(const char *operation)
{
    static const struct {
        const char *name;
        mw__arithmetic on;
    } tables[] = {
        {"tanh", MW__ARITHMETIC(tanh_knots)},  {"exp", MW__ARITHMETIC(exp_knots)},
        {"log", MW__ARITHMETIC(log_knots)},    {"sqrt", MW__ARITHMETIC(root_knots)},
        {"rsqrt", MW__ARITHMETIC(root_knots)}, {"inverse", MW__ARITHMETIC(inverse_knots)},
        {"erf", MW__ARITHMETIC(erf_knots)},    {"sin", MW__ARITHMETIC(sin_knots)},
        {"gelu", MW__ARITHMETIC(gelu_knots)},  {"silu", MW__ARITHMETIC(silu_knots)},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].name, operation) == 0)
            return tables[i].on;
    return 0;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool find_profile(const char *text, size_t length, mw__arithmetic *out)
{
    *out = MW__ARITHMETIC_IEEE;
    if (is_word(text, length, "ieee"))
        return true;
    for (size_t i = 0; mw__chip_at(i) != NULL; i++) {
        *out = mw__arithmetic_of(mw__chip_at(i)->chip);
        if (mw__chip_at(i)->has_arithmetic && is_word(text, length, mw__chip_at(i)->name))
            return true;
    }
    return false;
}

static bool find_switch(const char *text, size_t length, mw__arithmetic *out)
{
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        *out = (mw__arithmetic)1 << i;
        if (is_word(text, length, rows[i].name))
            return true;
    }
    return false;
}

/* One word at `*at`, which moves behind it and its comma. */
static bool read_word(const char **at, bool first, mw__arithmetic *set, bool *out_more)
{
    const bool off = !first && **at == '-';
    const char *word = *at + off;
    const size_t length = strcspn(word, ",");
    mw__arithmetic found;
    if (first ? !find_profile(word, length, &found) : !find_switch(word, length, &found))
        return false;
    *set = off ? *set & ~found : *set | found;
    *out_more = word[length] == ',';
    *at = word + length + *out_more;
    return true;
}

mw_status mw__arithmetic_parse(const char *text, mw__arithmetic *out, mw_error *err)
{
    mw__arithmetic set = MW__ARITHMETIC_IEEE;
    const char *at = text;
    bool first = true, more;
    if (strlen(text) >= MW__ARITHMETIC_TEXT)
        return mw__fail(err, MW_ERROR_ARGUMENT, "arithmetic profile \"%.60s..\": longer than %d bytes", text,
                        MW__ARITHMETIC_TEXT - 1);
    do {
        if (!read_word(&at, first, &set, &more))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "arithmetic profile \"%.100s\": \"%.60s\" is no %s (docs/chip.md has them)", text, at,
                            first ? "profile; they are ieee, h13 to h17 and h18g" : "switch");
        first = false;
    } while (more);
    *out = set;
    return MW_OK;
}
