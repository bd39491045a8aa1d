/* Options of writing: which format and which call has a use for each. What has none is refused by its name. */
#ifndef MW__MIL_WRITE_USE_H
#define MW__MIL_WRITE_USE_H

#include <millwright/write.h>

/* A format, or a text, joined with the one who writes. */
enum {
    MW__USE_MIL = 1,
    MW__USE_PACKAGE = 2,
    MW__USE_ONNX = 4,
    MW__USE_NETPLIST = 8,
    MW__USE_TEXT = 16,
    MW__USE_GRAPH = 32,
    MW__USE_MODEL = 64,
    MW__USE_TRAINER = 128
};

/* Refuses options that mw_write_defaults did not make, and those that this use has no use for.
 *  path  for the message; NULL = there is none */
mw_status mw__write_use_check(const mw_write_options *options, unsigned use, const char *call, const char *path,
                              mw_error *err);

#endif
