/* A folder for the files of one test program. */
#ifndef TESTS_CHIP_NETPLIST_NETPLIST_FOLDER_H
#define TESTS_CHIP_NETPLIST_NETPLIST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

bool netplist_folder_make(void);
void netplist_folder_remove(void);
const char *in_folder(const char *name); /* valid until the next call */
void put_file(const char *name, const char *data, size_t size);

#endif
