/* A program of a package as MIL text: what Apple's compiler makes of it. */
#ifndef MW__FORMAT_COREML_TEXT_H
#define MW__FORMAT_COREML_TEXT_H

#include "base/text/text.h"
#include "format/coreml/schema.h"

/* The text is at most so many times as long as the file, and this much besides. */
#define MW__COREML_TEXT_FACTOR 8
#define MW__COREML_TEXT_SPARE  ((size_t)1 << 20)

typedef struct mw__coreml_printer {
    const mw_allocator *allocator;
    mw__text *out;
    bool old;              /* style of literals: specifications 6 to 8 */
    const char *operation; /* that is printed, for messages */
    mw_error *err;
} mw__coreml_printer;

/* Appends the program of a model whose file has `size` bytes. Maps are sorted by key, as in Apple's texts; shapes that
 * the description admits become FlexibleShapeInformation of each function. Sorts what the message holds.
 *  errors  MW_ERROR_FORMAT for a message that lacks what text needs, a name that is no identifier, a literal without
 * the elements of its type, and for a text beyond the bound */
mw_status mw__coreml_print(const mw_allocator *allocator, const pb_model *model, size_t size, mw__text *out,
                           mw_error *err);

/* ---- text_value.c ---- */

mw_status mw__coreml_print_type(mw__coreml_printer *printer, const pb_type *type);
/* type "(" payload ")" */
mw_status mw__coreml_print_value(mw__coreml_printer *printer, const pb_value *value);
mw_status mw__coreml_print_payload(mw__coreml_printer *printer, const pb_value *value);
/* A name that text can hold. */
mw_status mw__coreml_print_name(mw__coreml_printer *printer, const char *name);
/* "x" in quotes, escaped. */
void mw__coreml_print_quoted(mw__text *out, const char *text);
/* Raises MW_ERROR_FORMAT, naming the operation that is printed. */
mw_status mw__coreml_malformed(const mw__coreml_printer *printer, const char *what);

/* ---- text_shapes.c ---- */

/* " [FlexibleShapeInformation = ..]" for the inputs of the function whose types have `?`; nothing if there are none. */
mw_status mw__coreml_print_shapes(mw__coreml_printer *printer, const pb_function *function, pb_feature *const *inputs,
                                  size_t input_count);

#endif
