import { expect, it } from 'vitest';
import { customerOf, openingMessage } from './make-cases.ts';

it('takes the line the customer opens with, without directions to the player', () => {
  const told = '1. **Opening:** "Hi, my card is lost. If the agent asks, say no."\n2. "Later."';
  expect(openingMessage(told)).toBe('Hi, my card is lost.');
});

it('tells a wish in the first person where no line is quoted', () => {
  const wish = "You're looking for a card. You want the one that gives you most. You earn $1.";
  expect(openingMessage(wish)).toBe(
    "Hi! I'm looking for a card. I want the one that gives me most.",
  );
  const start = '- Start by saying you want to change your email because you lost it.';
  expect(openingMessage(start)).toBe('Hi, I want to change my email because I lost it.');
});

it('knows a customer by name and one more fact, and none that a fact contradicts', () => {
  expect(customerOf('You are Priya Sharma from Chicago.')).toBe('af0581dcbf');
  expect(customerOf('You are Priya Sharma.')).toBeNull();
  expect(customerOf('You are Priya Sharma from Chicago, phone 000-555-0000.')).toBeNull();
});
