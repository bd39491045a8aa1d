/* What a program says of itself beside its operations: pairs of texts. MIL has them in the attribute buildInfo of the
 * program, where coremltools puts what a package says; other formats bring them in graph->pairs. */
#ifndef MW__GRAPH_IR_BUILD_INFO_H
#define MW__GRAPH_IR_BUILD_INFO_H

#include "graph/ir/ir_types.h"

#include <millwright/description.h>

typedef struct mw__pairs {
    mw_text_pair *items;
    size_t count;
} mw__pairs;

#define MW__BUILD_INFO "buildInfo"

/* The text that a literal is; NULL if it is another one, or several, or none. */
const char *mw__build_info_word(const mw__payload *payload);
/* Whether text of a description is UTF-8, as all formats want it; else the log has a line that `key` is not written. */
bool mw__build_info_is_text(const char *key, const char *text);

/* The attribute; NULL if there is none, or if it is no dictionary of texts. */
const mw__payload *mw__build_info_find(const mw_graph *graph);
/* The texts of entry `index` of that attribute; false past the last. */
bool mw__build_info_at(const mw__payload *info, size_t index, mw_text_pair *out);

/* The pairs of a description (NULL: none) and, under keys of ours, its text, version, author and license, whatever a
 * pair says under these; strings are those of the description. What no text can hold is left out, with a line in the
 * log. Of several pairs with one key the first counts, here and below. */
mw_status mw__build_info_list(const mw_description *description, mw__arena *arena, mw__pairs *out, mw_error *err);
/* The description of a graph that was read, with copies of all strings; *out is NULL if the graph says nothing. What
 * compilers say of themselves ("coremlc-..") is left out. What is no UTF-8 is taken for Latin 1, with a line in the
 * log: files of other formats hold any bytes. */
mw_status mw__build_info_describe(const mw_graph *graph, mw__arena *arena, const mw_description **out, mw_error *err);

#endif
