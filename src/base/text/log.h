/* Lines for the log hook; silent unless the user set one. */
#ifndef MW__BASE_TEXT_LOG_H
#define MW__BASE_TEXT_LOG_H

#include "base/visible.h"

#include <millwright/status.h>

MW__SIBLING void mw__log(mw_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
