/* Folders and small files of tests, by paths. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>

/* Makes a private folder the current one; its path in `out` of 512 bytes. */
bool folder_enter(char *out);
/* Removes it, with all that is in it. */
void folder_leave(const char *path);

/* Removes all that is in the folder, also folders; never follows a link. The folder stays. */
void folder_empty(const char *path);
/* Entries in it; -2 if it is none. */
int folder_count(const char *path);

void folder_put(const char *path, const char *content);
bool folder_holds(const char *path, const char *content);

#endif
