/* The objects that users hold, by address: what was destroyed, or never was one, is found out before it is followed.
 * An address that a newer object of the same kind has got passes for it.
 *
 * In the child of a fork, programs, trainers, models, predictors and communicators of the parent can only be destroyed:
 * mw__live_has is false of them, and mw__live_check says why. */
#ifndef MW__BASE_MEMORY_LIVE_H
#define MW__BASE_MEMORY_LIVE_H

#include "base/memory/alloc.h"
#include "base/text/error.h"
#include "base/visible.h"

typedef enum mw__live_kind {
    MW__LIVE_GRAPH = 1,
    MW__LIVE_PROGRAM,
    MW__LIVE_TRAINER,
    MW__LIVE_PLAN,
    MW__LIVE_LOADER,
    MW__LIVE_DATASET,
    MW__LIVE_CHIP_REPORT,
    MW__LIVE_CHIP_PLAN,
    MW__LIVE_COMPARISON,
    MW__LIVE_RANGES,
    MW__LIVE_TENSORS,
    MW__LIVE_MODEL,
    MW__LIVE_PREDICTOR,
    MW__LIVE_HWX,
    MW__LIVE_E5,
    MW__LIVE_COMMUNICATOR,
    MW__LIVE_METRICS,
    MW__LIVE_SUMMARY,
    MW__LIVE_COREML,
    MW__LIVE_TOKENIZER,
    MW__LIVE_TOKEN_STREAM,
    MW__LIVE_TEXT_MODEL,
    MW__LIVE_SCORES,
    MW__LIVE_TEXT_DATA,
    MW__LIVE_TABLE_ENCODER,
    MW__LIVE_KINDS
} mw__live_kind;

/* Enters an object that was just made.
 *  errors  MW_ERROR_MEMORY */
MW__SIBLING mw_status mw__live_add(const void *object, mw__live_kind kind, mw_error *err);
/* An object of `size` bytes, all zero, that is entered; NULL with err set. */
MW__SIBLING void *mw__live_make(const mw_allocator *allocator, size_t size, mw__live_kind kind, mw_error *err);
/* Takes no lock. False for NULL. */
MW__SIBLING bool mw__live_has(const void *object, mw__live_kind kind);
/* MW_ERROR_STATE if it is not there; "mw_program_run: the program was destroyed before". */
MW__SIBLING mw_status mw__live_check(const void *object, mw__live_kind kind, const char *call, mw_error *err);
/* For destroying. False, said through the log hook, if it is not there: then nothing may be done with it. */
MW__SIBLING bool mw__live_remove(const void *object, mw__live_kind kind, const char *call);

#endif
