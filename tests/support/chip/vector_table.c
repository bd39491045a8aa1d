/* Tab-separated lines. */
#include "vector_table.h"

#include <string.h>

bool vector_table_open(vector_table *t, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, MW_SHARED_DATA "/ane-numerics/%s", name);
    t->file = fopen(path, "r");
    return t->file != NULL && fgets(t->line, sizeof t->line, t->file) != NULL;
}

bool vector_table_next(vector_table *t)
{
    if (fgets(t->line, sizeof t->line, t->file) == NULL)
        return false;
    t->line[strcspn(t->line, "\n")] = '\0';
    char *at = t->line;
    for (int i = 0; i < VECTOR_FIELDS; i++) {
        t->field[i] = at;
        at += strcspn(at, "\t");
        if (*at == '\t')
            *at++ = '\0';
    }
    return true;
}
