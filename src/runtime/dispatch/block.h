/* Blocks of Apple's C that call a function, made without a compiler that knows blocks. */
#ifndef MW__RUNTIME_BLOCK_H
#define MW__RUNTIME_BLOCK_H

#include <stdint.h>

/* status: 0, or elsewhere than on macOS what the e5rt library says of the submission. */
typedef void mw__block_function(void *user, int status);

typedef struct mw__block_literal {
    const void *isa;
    int flags, reserved;
    int64_t (*invoke)(void *block, uint64_t stream, uint64_t request, int status);
    const void *about;
    mw__block_function *function; /* captured, with the next */
    void *user;
} mw__block_literal;

/* A block that needs no copy, in memory that must outlive its use. */
void mw__dispatch_callback_init(mw__block_literal *block, mw__block_function *function, void *user);
/* One on the heap, which users may retain; NULL if there is no memory. */
void *mw__dispatch_callback_create(mw__block_function *function, void *user);
/* NULL is fine. */
void mw__dispatch_callback_release(void *block);

#endif
