/* Counts operations by name; those of nested blocks do not count. */
#include "support/op_count.h"

#include <string.h>

size_t op_count(const mw__block *block, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < block->op_count; i++)
        count += strcmp(block->ops[i]->kind, kind) == 0;
    return count;
}
