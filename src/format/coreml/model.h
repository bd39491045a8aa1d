/* The object that stands for a model, and how its file becomes one. */
#ifndef MW__FORMAT_COREML_MODEL_H
#define MW__FORMAT_COREML_MODEL_H

#include "base/file/file.h"
#include "base/memory/alloc.h"
#include "format/coreml/schema.h"

#include <millwright/coreml.h>

struct mw_coreml {
    const mw_allocator *allocator;
    mw__arena arena; /* of the strings and of the description */
    unsigned kind;   /* field number in the schema */
    int specification;
    const char *name; /* as a part */
    mw_description description;
    mw_graph *graph;  /* of a program */
    mw_coreml *parts; /* of a pipeline */
    size_t part_count;
};

/* Deepest nesting of pipelines, and most parts of one. */
#define MW__COREML_DEPTH 4
#define MW__COREML_PARTS 1024

/* Largest model file: what protobuf can say, and more than any model has beside its weights. */
#define MW__COREML_FILE_MAX ((size_t)1 << 30)

/* What is read from where. */
typedef struct mw__coreml_source {
    const char *path;   /* of the package or compiled model, for messages */
    const char *folder; /* of the model's file: weights are named from there */
    const mw_graph_options *options;
    int depth; /* of pipelines */
} mw__coreml_source;

void mw__coreml_init(mw_coreml *model, const mw_allocator *allocator);
void mw__coreml_deinit(mw_coreml *model);

/* Fills a fresh model from its message; `size` is that of the file. A kind that is not read is noted and no error.
 * Sorts what the message holds. */
mw_status mw__coreml_take(mw_coreml *out, const pb_model *from, size_t size, const mw__coreml_source *source,
                          mw_error *err);

/* The same of a package, whose folder is source->path, and of a compiled model. */
mw_status mw__coreml_read_package(mw_coreml *out, const mw__coreml_source *source, mw_error *err);
mw_status mw__coreml_read_compiled(mw_coreml *out, const mw__coreml_source *source, mw_error *err);

/* Reads a file whole that lies below a folder; freed with mw__free. */
mw_status mw__coreml_load(const mw_allocator *allocator, const char *root, const char *name, size_t limit, char **out,
                          size_t *out_size, mw_error *err);

/* "folder/name", freed with mw__free. */
char *mw__coreml_join(const mw_allocator *allocator, const char *folder, const char *name, mw_error *err);

#endif
