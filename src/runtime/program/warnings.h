/* Warnings that a program or a trainer keeps (mw_warning). */
#ifndef MW__RUNTIME_PROGRAM_WARNINGS_H
#define MW__RUNTIME_PROGRAM_WARNINGS_H

#include "base/memory/alloc.h"

#include <millwright/program.h>

/* Writes the sentence of a warning, of which all other fields are set, into the arena.
 *  subject  what it is about: `clip "limited"`
 *  says     what is to be said of an operation; NULL = a constant was replaced */
mw_status mw__warning_write(mw_warning *warning, const char *subject, const char *says, mw__arena *arena,
                            mw_error *err);

#endif
