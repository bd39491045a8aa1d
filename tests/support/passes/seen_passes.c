/* Keeping what is told of passes. */
#include "support/passes/seen_passes.h"

#include <stdlib.h>
#include <string.h>

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

void seen_report(void *user, const mw_pass *pass)
{
    seen_passes *seen = user;
    const mw__rule_id id = mw__pass_rule_find(pass->name, strlen(pass->name));
    seen->ran[id] = true;
    seen->changed[id] = seen->changed[id] || pass->changed;
    for (size_t i = 0; i < pass->rule_count; i++)
        seen->hits[mw__pass_rule_find(pass->rules[i].name, strlen(pass->rules[i].name))] += pass->rules[i].hits;
    if (pass->text != NULL) {
        free(seen->text[id]);
        seen->text[id] = copy_of(pass->text);
    }
    if (pass->broken != NULL)
        seen->broken = mw__pass_rule_of(id)->name;
}

bool seen_differ(const seen_passes *a, const seen_passes *b)
{
    for (size_t i = 0; i < MW__RULE_COUNT; i++)
        if ((a->text[i] == NULL) != (b->text[i] == NULL) || (a->text[i] != NULL && strcmp(a->text[i], b->text[i]) != 0))
            return true;
    return false;
}

void seen_deinit(seen_passes *seen)
{
    for (size_t i = 0; i < MW__RULE_COUNT; i++)
        free(seen->text[i]);
    *seen = (seen_passes){.broken = NULL};
}
