/* Containers made by hand, word by word from what is documented: nothing of the library writes them. */
#ifndef TESTS_CHIP_HWX_HWX_BYTES_H
#define TESTS_CHIP_HWX_HWX_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HWX_BYTES_MOST = 1 << 15 };

/* What differs between compilers and chips. */
typedef struct hwx_style {
    unsigned subtype; /* 4 = H13 */
    bool later;       /* as compilers 7 to 9: windows first, binding 0x40, larger thread states */
    bool extras;      /* a note, and a load command that nobody knows */
} hwx_style;

/* Where things stand, for tests that break them. */
typedef struct hwx_made {
    uint8_t bytes[HWX_BYTES_MOST];
    size_t size;
    size_t text_command, binding, program, port, ident, note, unknown, symtab; /* load commands */
    size_t text, constants, symbols, strings, relocations;                     /* contents */
    size_t strings_size;
} hwx_made;

/* A program of two tasks: a relu, then a 1x1 convolution of 3 to 3 channels with the weights 1 to 9 and a bias of 10 to
 * 12, which are in halves. From H14 on the tasks are frames: one of dense and sparse records, and padding. */
void hwx_make(hwx_made *made, hwx_style style);

uint32_t hwx_get32(const uint8_t *at);
void hwx_put32(uint8_t *at, uint32_t value);
void hwx_put64(uint8_t *at, uint64_t value);

#endif
