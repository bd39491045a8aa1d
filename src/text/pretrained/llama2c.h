/* The form of llama2.c's files, for who reads and who writes them. */
#ifndef MW__TEXT_PRETRAINED_LLAMA2C_H
#define MW__TEXT_PRETRAINED_LLAMA2C_H

#include "text/pretrained/raw.h"

#define MW__LLAMA2C_MARK 0x616b3432u
enum { MW__LLAMA2C_HEADER = 256 }; /* bytes, of versions 1 and 2 */

extern const mw__raw_item mw__llama2c_order_0[], mw__llama2c_norms[], mw__llama2c_products[], mw__llama2c_head[];

#endif
