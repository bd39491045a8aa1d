/* Names of what stands beside a file or folder until it gets its name. */
#ifndef MW__BASE_FILE_TEMPORARY_H
#define MW__BASE_FILE_TEMPORARY_H

#include <stdbool.h>

/* The longest name that file systems take, and the NUL. */
enum { MW__NAME_BYTES = 256 };

/* Writes the part that all names beside `name` begin with: the name, or for a long one its beginning and a hash of the
 * whole, so that an ending of 30 bytes fits behind it. */
void mw__temporary_stem(char out[MW__NAME_BYTES], const char *name);
/* Writes "<stem>.<process>-<attempt>.tmp". */
void mw__temporary_name(char out[MW__NAME_BYTES], const char *name, int attempt);
/* Whether `entry` is such a name beside `name`, of any process. */
bool mw__temporary_is_of(const char *entry, const char *name);

#endif
