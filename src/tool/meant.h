/* "did you mean": what is offered in place of a word that the tool does not know. The words come from its tables. */
#ifndef MW__TOOL_MEANT_H
#define MW__TOOL_MEANT_H

#include "base/text/spelling.h"

#include <millwright/status.h>

enum { MEANT_BYTES = 200 };

/* "; did you mean \"sgd\"?" of a list "adam, sgd", or "". Returns `out`. */
const char *meant_listed(char out[MEANT_BYTES], const char *typed, const char *list);
/* Of the commands. */
const char *meant_command(char out[MEANT_BYTES], const char *typed);
/* Of the files that lie where this one does not; "" if it is there, too. */
const char *meant_file(char out[MEANT_BYTES], const char *path);

/* Behind a message that names a path which is not there: the file beside it that was meant. */
void meant_add_file(mw_error *err, const char *path);

#endif
