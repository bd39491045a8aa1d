/* What every picture and page has to be: well-formed, with texts that have room, and complete in itself. */
#ifndef TESTS_VIEW_PICTURE_H
#define TESTS_VIEW_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Tags nest, attributes are quoted and there once, entities are the five of XML or numbers, bytes are UTF-8 without
 * what XML forbids. Notes a failure with what is wrong. */
bool picture_is_xml(const char *text, const char *what);
/* Every text of an SVG lies in it and not over another one: each letter is taken for 0.62 of its height, as wide fonts
 * have it. Returns how many there are. */
size_t picture_check_texts(const char *svg, const char *what);
/* Nothing is fetched from elsewhere: no address, no src or href but to a part of itself or to data in it, no script. */
bool picture_is_alone(const char *text, const char *what);
/* Bytes of a file, freed with free(); NULL if it is not there. */
char *picture_read(const char *path);

#endif
