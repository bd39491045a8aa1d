/* Manifest.json: which file of a package is its model. */
#ifndef MW__FORMAT_COREML_MANIFEST_H
#define MW__FORMAT_COREML_MANIFEST_H

#include "base/text/text.h"

/** Reads the text; *out is the path of the model inside the folder of the package
 *  ("Data/com.apple.CoreML/model.mlmodel"), freed with mw__free. The path is the file's own: open it with
 *  mw__file_open_below.
 *  errors  MW_ERROR_FORMAT for what is no manifest of version 1, or names no model */
mw_status mw__coreml_manifest_read(const mw_allocator *allocator, const char *text, size_t size, char **out,
                                   mw_error *err);

/* Appends the manifest of a package with a model and, if it has any, weights. Their identifiers follow from `seed`. */
void mw__coreml_manifest_print(mw__text *text, bool weights, uint64_t seed);

#endif
