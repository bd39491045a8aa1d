/* The feeds of a batch, for whoever looks into one. */
#ifndef MW__GRAPH_VALUES_FEEDS_H
#define MW__GRAPH_VALUES_FEEDS_H

#include <millwright/dataset.h>
#include <string.h>

/* The feed of that name; NULL if there is none. */
static inline const mw_feed *mw__feeds_find(const mw_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->feed_count; i++)
        if (strcmp(batch->feeds[i].name, name) == 0)
            return &batch->feeds[i];
    return NULL;
}

#endif
