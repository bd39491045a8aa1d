/* The one rule of names, for whoever gives them and whoever writes or reads them. */
#ifndef MW__BASE_TEXT_NAME_H
#define MW__BASE_TEXT_NAME_H

#include "base/text/error.h"

/* Why files would not take this text as a name, or NULL: it must be UTF-8, not empty, without control characters
 * (U+0000 to U+001F, U+007F). */
const char *mw__name_fault(const char *name);

/* MW_ERROR_ARGUMENT, with the rule, for a name that could not be saved: one with a fault, of more than MW_NAME_MAX
 * bytes, or "__metadata__", which a safetensors file keeps for itself. `what` names the thing that has the name. */
mw_status mw__name_check(const char *what, const char *name, mw_error *err);

#endif
