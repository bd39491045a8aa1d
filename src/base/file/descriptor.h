/* Descriptors 0, 1 and 2 belong to standard input, output and error, also where a host has closed them: what is printed
 * later would go into a data file that got such a number. So every open of the library goes through here. */
#ifndef MW__BASE_FILE_DESCRIPTOR_H
#define MW__BASE_FILE_DESCRIPTOR_H

#include "base/visible.h"

#include <stdio.h>

/* The same open file from 3 on, closed on exec; `descriptor` is closed if it was below. Negative numbers stay, errno
 * too. -1 with errno set if there is none left. */
MW__SIBLING int mw__descriptor_above(int descriptor);
/* A file for reading, by such a descriptor; NULL if it cannot be opened. */
FILE *mw__descriptor_stream(const char *path);

#endif
