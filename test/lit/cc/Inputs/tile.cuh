#pragma once
constexpr int rows = ROWS;
