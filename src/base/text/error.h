/* Raising and passing on errors. */
#ifndef MW__BASE_TEXT_ERROR_H
#define MW__BASE_TEXT_ERROR_H

#include "base/visible.h"

#include <millwright/status.h>
#include <stdbool.h>

/* Passes a failure up: the callee has filled the error. */
#define MW_TRY(call)                                                                                                   \
    do {                                                                                                               \
        mw_status mw__status = (call);                                                                                 \
        if (mw__status != MW_OK)                                                                                       \
            return mw__status;                                                                                         \
    } while (0)

/* Raises: fills *err (if there is one and it is empty) and returns the status. */
#define mw__fail(err, status, ...) mw__not_ok(mw__fail_at((err), (status), __FILE__, __LINE__, __VA_ARGS__))

/* A failure is never MW_OK; written so that the compiler sees it too, and that results are set where MW_TRY passes. */
static inline mw_status mw__not_ok(mw_status status) { return status != MW_OK ? status : MW_ERROR_STATE; }

MW__SIBLING mw_status mw__fail_at(mw_error *err, mw_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the names that a message is about to an error that is set. NULL leaves a field alone. */
void mw__error_subject(mw_error *err, const char *operation, const char *tensor);

/* Adds the place in a text to an error that is set (from 1). */
MW__SIBLING void mw__error_position(mw_error *err, int line, int column);

/* True if an earlier call already failed. */
static inline bool mw__failed(const mw_error *err) { return err != NULL && err->status != MW_OK; }

/* At the head of a public function: true if an earlier call failed, so that this one does nothing; the log hook is
 * told. */
#define mw__skips(err) (mw__failed(err) && mw__skipped((err), __func__))
MW__SIBLING bool mw__skipped(const mw_error *err, const char *call);

#endif
