/* Texts that know what they stand for. */
#include "text/normal/aligned.h"

#include <string.h>

mw__aligned mw__aligned_of(const char *text, size_t size, size_t first, const mw_allocator *allocator, mw_error *err)
{
    return (mw__aligned){.allocator = allocator, .bytes = text, .size = size, .first = first, .err = err};
}

void mw__aligned_deinit(mw__aligned *a)
{
    mw__free(a->allocator, a->own);
    mw__free(a->allocator, a->from);
    mw__free(a->allocator, a->to);
    *a = (mw__aligned){.allocator = a->allocator, .err = a->err};
}

static bool make_room(mw__aligned *a, size_t wanted)
{
    if (a->err->status != MW_OK)
        return false;
    if (wanted <= a->capacity)
        return true;
    const size_t capacity = wanted + wanted / 2 + 16;
    char *own = mw__resize(a->allocator, a->own, capacity, 1, a->err);
    a->own = own != NULL ? own : a->own;
    uint32_t *from = own != NULL ? mw__resize(a->allocator, a->from, capacity, sizeof *from, a->err) : NULL;
    a->from = from != NULL ? from : a->from;
    uint32_t *to = from != NULL ? mw__resize(a->allocator, a->to, capacity, sizeof *to, a->err) : NULL;
    a->to = to != NULL ? to : a->to;
    a->bytes = a->own;
    if (to == NULL)
        return false;
    a->capacity = capacity;
    return true;
}

mw__aligned mw__aligned_begin(const mw_allocator *allocator, size_t expected, mw_error *err)
{
    mw__aligned a = {.allocator = allocator, .err = err};
    make_room(&a, expected + 1);
    return a;
}

size_t mw__aligned_from(const mw__aligned *a, size_t at) { return a->own != NULL ? a->from[at] : a->first + at; }
size_t mw__aligned_to(const mw__aligned *a, size_t at) { return a->own != NULL ? a->to[at] : a->first + at + 1; }

void mw__aligned_put(mw__aligned *a, const char *bytes, size_t size, size_t from, size_t to)
{
    if (!make_room(a, a->size + size))
        return;
    for (size_t i = 0; i < size; i++) {
        a->own[a->size] = bytes[i];
        a->from[a->size] = (uint32_t)from;
        a->to[a->size++] = (uint32_t)to;
    }
}

/* The character that a byte of an original lies in has bytes beside it. */
static size_t end_of_char(const mw__aligned *a, size_t at)
{
    if (a->own != NULL)
        return a->to[at];
    size_t end = at + 1;
    while (end < a->size && ((unsigned char)a->bytes[end] & 0xc0) == 0x80)
        end++;
    return a->first + end;
}

void mw__aligned_put_code(mw__aligned *a, uint32_t code, const mw__aligned *other, size_t at)
{
    char bytes[4];
    const size_t size = mw__aligned_encode(code, bytes);
    mw__aligned_put(a, bytes, size, mw__aligned_from(other, at), end_of_char(other, at));
}

void mw__aligned_copy(mw__aligned *a, const mw__aligned *other, size_t at, size_t size)
{
    if (!make_room(a, a->size + size))
        return;
    memcpy(a->own + a->size, other->bytes + at, size);
    for (size_t i = 0; i < size; i++) {
        a->from[a->size + i] = (uint32_t)mw__aligned_from(other, at + i);
        a->to[a->size + i] = (uint32_t)mw__aligned_to(other, at + i);
    }
    a->size += size;
}

size_t mw__aligned_encode(uint32_t code, char out[4])
{
    if (code >= 0x110000) {
        out[0] = (char)(code - 0x110000);
        return 1;
    }
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(first[size] | code);
    return size;
}
