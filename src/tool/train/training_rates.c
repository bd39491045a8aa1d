/* Learning rates by depth and by selector: what the command or the settings say, and what became of it. */
#include "tool/fields.h"
#include "tool/train/training.h"

#include "base/number/number.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(training *t, size_t count)
{
    t->tune.factors = calloc(count + 1, sizeof *t->tune.factors);
    t->tune.factor_names = calloc(count + 1, sizeof *t->tune.factor_names);
    return (t->tune.factors != NULL && t->tune.factor_names != NULL) ||
           training_fail(t, MW_ERROR_MEMORY, "there is no memory");
}

static bool add_factor(training *t, const char *pattern, size_t length, double factor)
{
    char *name = strndup(pattern, length);
    t->tune.factor_names[t->tune.factor_count] = name;
    t->tune.factors[t->tune.factor_count++] = (mw_rate_factor){.pattern = name, .factor = (float)factor};
    return name != NULL || training_fail(t, MW_ERROR_MEMORY, "there is no memory");
}

/* PATTERN=FACTOR of the command. */
static bool take_words(training *t)
{
    for (size_t i = 0; i < t->over->rate_count; i++) {
        const char *word = t->over->rates[i], *equals = strrchr(word, '=');
        char *end = NULL;
        const double factor = equals != NULL ? strtod(equals + 1, &end) : 0;
        if (equals == NULL || equals == word || equals[1] == '\0' || *end != '\0' || !(factor > 0 && factor <= 1e6))
            return training_fail(t, MW_ERROR_ARGUMENT,
                                 "--rate %.100s: PATTERN=FACTOR is wanted, a factor above 0 and up to 1e6", word);
        if (!add_factor(t, word, (size_t)(equals - word), factor))
            return false;
    }
    return true;
}

/* {"pattern": factor, ..} of the settings. */
static bool take_settings(training *t, const config_node *rates)
{
    for (config_node *node = rates != NULL ? rates->first : NULL; node != NULL; node = node->next) {
        node->used = true;
        if (node->kind != CONFIG_NUMBER || !(node->number > 0 && node->number <= 1e6)) {
            config_fail(&t->c, node, "\"rates\" has a factor above 0 and up to 1e6 for each pattern");
            return false;
        }
        if (!add_factor(t, node->key, strlen(node->key), node->number))
            return false;
    }
    return true;
}

/* ---- what became of it ---- */

static void say_rate(void *user, const mw_rate_choice *choice)
{
    const training *t = user;
    mw__json_writer *json = t->call->json;
    if (json != NULL) {
        mw__json_open(json, NULL, '{');
        mw__json_add_string(json, "parameter", choice->parameter);
        mw__json_add_integer(json, "depth", choice->depth);
        mw__json_add_number(json, "factor", choice->factor);
        mw__json_add_string(json, "pattern", choice->pattern);
        mw__json_close(json, '}');
        return;
    }
    if (t->call->quiet)
        return;
    tool_print("  rate x %-9.4g depth %-3d ", choice->factor, choice->depth);
    tool_show(choice->parameter);
    tool_puts(choice->pattern != NULL ? "  by " : "");
    tool_show(choice->pattern);
    tool_puts("\n");
}

bool training_take_rates(training *t, mw_trainer_rates *out)
{
    config *c = &t->c;
    const config_node *rates = field_object(c, c->root, "rates");
    const double decay = field_number(c, c->root, "rate_decay", 0);
    t->tune.decay = t->over->rate_decay > 0 ? t->over->rate_decay : decay;
    if (!make_room(t, t->over->rate_count + config_count(rates)) ||
        !(t->over->rate_count > 0 ? take_words(t) : take_settings(t, rates)))
        return false;
    *out = (mw_trainer_rates){.decay = (float)t->tune.decay,
                              .factors = t->tune.factors,
                              .factor_count = t->tune.factor_count,
                              .source = t->tune.factor_count > 0 ? t->source : NULL};
    if (t->tune.decay > 0 || t->tune.factor_count > 0) {
        out->report = say_rate;
        out->report_user = t;
    }
    return t->err->status == MW_OK;
}
