/* For every file inside the project: the C library, and of this room what most files use. Public headers include
 * only what they need. */
#pragma once

#include "base/arena.h"
#include "base/cancel.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/order.h"
#include "base/text.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
