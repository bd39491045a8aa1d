/* An allocator's `resize` that counts. */
#ifndef TESTS_SUPPORT_METER_H
#define TESTS_SUPPORT_METER_H

#include <stddef.h>

/* Bytes that are held, and the most that were. */
typedef struct meter {
    size_t held, most;
} meter;

/* `user` is the meter. */
void *meter_resize(void *user, void *pointer, size_t size);

#endif
