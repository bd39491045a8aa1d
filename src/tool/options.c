/* Options of commands. popt splits the words; values are read here, by the rows. */
#include "tool/options.h"

#include "base/number/number.h"
#include "tool/meant.h"
#include "tool/tool.h"

#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 64 };

/* The rows of the command that this process runs. */
static struct {
    const tool_option *rows[ROWS_MAX];
    bool given[ROWS_MAX];
    size_t count;
    poptContext context;
} all;

/* ---- rows ---- */

void tool_each_option(const tool_option *options, void (*visit)(void *user, const tool_option *option), void *user)
{
    for (; options != NULL && options->kind != TOOL_END; options++) {
        if (options->kind == TOOL_TABLE)
            tool_each_option(options->value, visit, user);
        else
            visit(user, options);
    }
}

const char *tool_option_range(char *out, size_t size, const tool_option *option)
{
    out[0] = '\0';
    if (option->kind == TOOL_INTEGER)
        snprintf(out, size, "%lld .. %lld", (long long)option->low, (long long)option->high);
    if (option->kind == TOOL_NUMBER)
        snprintf(out, size, "%g .. %g", option->low, option->high);
    return out;
}

static void add_row(void *user, const tool_option *option)
{
    (void)user;
    if (all.count < ROWS_MAX)
        all.rows[all.count++] = option;
}

static size_t find_row(const char *name, size_t length)
{
    size_t at = 0;
    while (at < all.count && (strlen(all.rows[at]->name) != length || strncmp(all.rows[at]->name, name, length) != 0))
        at++;
    return at;
}

bool tool_has_option(const char *name) { return find_row(name, strlen(name)) < all.count; }

bool tool_given(const char *name)
{
    const size_t at = find_row(name, strlen(name));
    return at < all.count && all.given[at];
}

void tool_each_given_text(void (*visit)(void *user, const char *text), void *user)
{
    for (size_t i = 0; i < all.count; i++) {
        if (all.given[i] && all.rows[i]->kind == TOOL_TEXT)
            visit(user, *(const char **)all.rows[i]->value);
        const char **list = all.given[i] && all.rows[i]->kind == TOOL_LIST ? *(const char ***)all.rows[i]->value : NULL;
        for (; list != NULL && *list != NULL; list++)
            visit(user, *list);
    }
}

bool tool_refuse_options(const char *why, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (tool_given(*names)) {
            tool_complain("--%s has no effect %s", *names, why);
            return true;
        }
    }
    return false;
}

/* ---- values ---- */

bool tool_is_listed(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = choices; *at != '\0';) {
        const size_t size = strcspn(at, ",");
        if (size == length && strncmp(at, text, length) == 0)
            return true;
        at += size;
        at += strspn(at, ", ");
    }
    return false;
}

static bool refuse_choice(const tool_option *option, const char *text)
{
    char hint[MEANT_BYTES];
    tool_complain("--%s %.60s is none of %s%s", option->name, text, option->choices,
                  meant_listed(hint, text, option->choices));
    return false;
}

static bool take_integer(const tool_option *option, const char *text)
{
    int64_t value;
    char range[64];
    if (!mw__number_read_i64(text, strlen(text), &value)) {
        tool_complain("--%s %.60s: a whole number is expected", option->name, text);
        return false;
    }
    *(long long *)option->value = value;
    if (option->choices != NULL && !tool_is_listed(option->choices, text))
        return refuse_choice(option, text);
    if ((double)value >= option->low && (double)value <= option->high)
        return true;
    tool_complain("--%s %lld is not in %s", option->name, (long long)value,
                  tool_option_range(range, sizeof range, option));
    return false;
}

static bool take_number(const tool_option *option, const char *text)
{
    double value;
    char range[64];
    if (!mw__number_read(text, strlen(text), MW__NUMBER_F64, &value)) {
        tool_complain("--%s %.60s: a number is expected", option->name, text);
        return false;
    }
    *(double *)option->value = value;
    if (value >= option->low && value <= option->high)
        return true;
    tool_complain("--%s %g is not in %s", option->name, value, tool_option_range(range, sizeof range, option));
    return false;
}

static bool take_text(const tool_option *option, char *text)
{
    char **to = option->value;
    free(*to);
    *to = text;
    if (text[0] == '\0' && option->kind != TOOL_WORDS) {
        tool_complain("--%s: the text is empty", option->name);
        return false;
    }
    return option->choices == NULL || tool_is_listed(option->choices, text) || refuse_choice(option, text);
}

static bool take_item(const tool_option *option, char *text)
{
    char ***list = option->value;
    size_t count = 0;
    while (*list != NULL && (*list)[count] != NULL)
        count++;
    char **grown = realloc(*list, (count + 2) * sizeof *grown);
    if (grown == NULL) {
        tool_complain("--%s: there is no memory", option->name);
        free(text);
        return false;
    }
    grown[count] = text;
    grown[count + 1] = NULL;
    *list = grown;
    return true;
}

static bool take_value(const tool_option *option, char *text)
{
    bool good = true;
    switch (option->kind) {
    case TOOL_FLAG:
        *(bool *)option->value = true;
        return true;
    case TOOL_INTEGER:
        good = take_integer(option, text);
        free(text);
        return good;
    case TOOL_NUMBER:
        good = take_number(option, text);
        free(text);
        return good;
    case TOOL_LIST:
        return take_item(option, text);
    default:
        return take_text(option, text);
    }
}

/* ---- what has an effect only with another ---- */

/* One of "chip", "weights=palette". */
static bool has_one(const char *needs, size_t size)
{
    const size_t equals = strcspn(needs, "="), length = equals < size ? equals : size;
    const size_t at = find_row(needs, length);
    if (at == all.count || !all.given[at])
        return false;
    return length == size || strcmp(*(const char **)all.rows[at]->value, needs + length + 1) == 0;
}

/* "data|own-data": one is enough. */
static bool has_needed(const char *needs)
{
    for (const char *at = needs;; at++) {
        const size_t size = strcspn(at, "|");
        if (has_one(at, size))
            return true;
        at += size;
        if (*at == '\0')
            return false;
    }
}

/* "weights=palette" as "--weights palette". */
static void complain_needs(const char *name, const char *needs)
{
    char text[128] = "";
    size_t used = 0;
    for (const char *at = needs; *at != '\0' && used + 8 < sizeof text; at++) {
        if (at == needs)
            used += (size_t)snprintf(text, sizeof text, "--");
        used += (size_t)snprintf(text + used, sizeof text - used, *at == '|' ? " or --" : "%c", *at == '=' ? ' ' : *at);
    }
    tool_complain("--%s has no effect without %s", name, text);
}

static bool check_needs(void)
{
    for (size_t i = 0; i < all.count; i++) {
        const char *needs = all.rows[i]->needs;
        if (!all.given[i] || needs == NULL || has_needed(needs))
            continue;
        complain_needs(all.rows[i]->name, needs);
        return false;
    }
    return true;
}

/* ---- words ---- */

static void make_popt_row(const tool_option *option, int value, struct poptOption *out)
{
    *out = (struct poptOption){.longName = option->name,
                               .shortName = option->letter,
                               .argInfo = option->kind == TOOL_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING,
                               .val = value};
}

/* Of the options of this command; the name alone of "--epoch=3". */
static const char *hint_option(char out[MEANT_BYTES], const char *typed)
{
    char name[MW__SPELLING_BYTES];
    mw__spelling spelling;
    typed += strspn(typed, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed, "="), typed);
    mw__spelling_init(&spelling, name);
    for (size_t i = 0; i < all.count; i++)
        mw__spelling_offer(&spelling, all.rows[i]->name);
    return mw__spelling_hint(&spelling, "--", out, MEANT_BYTES);
}

/* Whether the line of usage helps: not if it is known what was meant. */
static bool refuse_word(int rc)
{
    char hint[MEANT_BYTES] = "";
    const char *word = poptBadOption(all.context, POPT_BADOPTION_NOALIAS);
    if (rc == POPT_ERROR_BADOPT)
        hint_option(hint, word);
    tool_complain("%s: %s%s", word, poptStrerror(rc), hint);
    return hint[0] == '\0';
}

int tool_options_parse(const tool_option *options, int argc, const char **argv, const char ***out_arguments,
                       bool *out_usage)
{
    static struct poptOption table[ROWS_MAX + 1];
    int rc;
    *out_usage = false;
    tool_each_option(options, add_row, NULL);
    for (size_t i = 0; i < all.count; i++)
        make_popt_row(all.rows[i], (int)i + 1, &table[i]);
    all.context = poptGetContext("mw", argc, argv, table, 0);
    while ((rc = poptGetNextOpt(all.context)) > 0) {
        all.given[rc - 1] = true;
        if (!take_value(all.rows[rc - 1], poptGetOptArg(all.context)))
            return TOOL_USAGE;
    }
    *out_usage = rc < -1 && refuse_word(rc);
    *out_arguments = poptGetArgs(all.context);
    return rc < -1 || !check_needs() ? TOOL_USAGE : TOOL_DONE;
}

static void free_row(const tool_option *option)
{
    if (option->kind == TOOL_TEXT || option->kind == TOOL_WORDS) {
        free(*(char **)option->value);
        *(char **)option->value = NULL;
    }
    if (option->kind != TOOL_LIST)
        return;
    char **list = *(char ***)option->value;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
    *(char ***)option->value = NULL;
}

void tool_options_free(void)
{
    for (size_t i = 0; i < all.count; i++)
        free_row(all.rows[i]);
    poptFreeContext(all.context);
}
