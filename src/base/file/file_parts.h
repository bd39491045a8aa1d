/* A private file with copies of parts of another one, each at its own place; between them are holes, which take no
 * room. What was copied is memory that is read only and that nobody else changes, backed by the file: pages that are
 * not touched take none of the process's. Other folders can have the same file under a further name. */
#ifndef MW__BASE_FILE_FILE_PARTS_H
#define MW__BASE_FILE_FILE_PARTS_H

#include "base/file/private_folder.h"

typedef struct mw__file_parts {
    mw__private_folder folder;
    char *path;
    int descriptor; /* for writing; -1 once it is complete */
    const mw_allocator *allocator;
    char *piece; /* what is copied passes through it; NULL once it is complete */
    void *data;  /* `size` bytes */
    uint64_t size;
} mw__file_parts;

/* For parts of a file of that size. Fails where there is no room for twice as much, or no memory; then there is nothing
 * to release. */
mw_status mw__file_parts_make(mw__file_parts *parts, const mw_allocator *allocator, uint64_t size, mw_error *err);
/* Copies a range of `from` to the same place. *out_copied is false, without an error, if it could not be written; what
 * cannot be read is an error. */
mw_status mw__file_parts_copy(const mw__file_parts *parts, const mw__file *from, uint64_t offset, uint64_t size,
                              const char *path, bool *out_copied, mw_error *err);
/* The same to the place `to`. */
mw_status mw__file_parts_copy_to(const mw__file_parts *parts, uint64_t to, const mw__file *from, uint64_t offset,
                                 uint64_t size, const char *path, bool *out_copied, mw_error *err);
/* Writes bytes at a place; false if they could not be written. */
bool mw__file_parts_put(const mw__file_parts *parts, uint64_t offset, const void *bytes, size_t size);
/* No part comes after this. */
void mw__file_parts_complete(mw__file_parts *parts);
/* Gives the file a further name. False where it cannot have one. */
bool mw__file_parts_link(const mw__file_parts *parts, const char *to);
void mw__file_parts_release(mw__file_parts *parts, const mw_allocator *allocator);

#endif
