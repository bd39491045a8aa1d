/* An allocator that counts the bytes in use, for tests of what is promised about memory.
 *
 *     metered_bytes bytes = {0};
 *     const mw_allocator allocator = metered_allocator(&bytes);
 *     ... do the thing ..
 *     CHECK(bytes.most <= promised); */
#ifndef TESTS_SUPPORT_METERED_H
#define TESTS_SUPPORT_METERED_H

#include <millwright/status.h>

typedef struct metered_bytes {
    size_t now, most; /* most at once */
} metered_bytes;

mw_allocator metered_allocator(metered_bytes *bytes);

#endif
